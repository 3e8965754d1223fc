// The talk with the program that serves the page: JSON to it, frames from it.
function talk({ opened, received, closed }) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}${location.pathname}talk`);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => opened(socket));
  socket.addEventListener("message", (event) => received(event.data));
  socket.addEventListener("close", () => {
    closed();
    setTimeout(() => talk({ opened, received, closed }), 2000);
  });
}
