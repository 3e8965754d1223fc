// The connection to the program that serves the page: JSON to it, frames from it. Returns a function
// that reconnects at once.
function talk({ opened, received, closed }) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  let [socket, waiting] = [null, 0];
  const connect = () => {
    clearTimeout(waiting);
    if (socket && socket.readyState < WebSocket.CLOSING) return;
    socket = new WebSocket(`${scheme}://${location.host}${location.pathname}talk`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => opened(socket));
    socket.addEventListener("message", (event) => received(event.data));
    socket.addEventListener("close", () => {
      closed();
      waiting = setTimeout(connect, 2000);
    });
  };
  connect();
  return connect;
}
