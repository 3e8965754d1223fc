document.body.dataset.seen = JSON.stringify([
  $("clock").textContent,
  [...state.on].sort(),
  scene().entity,
  state.log,
]);
