document.body.dataset.seen = JSON.stringify([
  $("clock").textContent,
  [...state.on].sort(),
  getScene().entity,
  state.log,
]);
