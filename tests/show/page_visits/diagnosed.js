const links = [...document.querySelectorAll("#diagnoses a")];
const seen = [
  document.querySelectorAll("#diagnoses li").length,
  links.map((one) => one.textContent),
];
document.querySelector("#lead button").click();
const tuned = [
  [...document.querySelectorAll("#lead tr > :first-child")].map((one) => one.textContent),
  String(getSelection()),
  document.querySelector("#lead img").alt !== "" && !$("lead").hidden,
];
addEventListener("hashchange", () => {
  document.body.dataset.seen = JSON.stringify([
    ...seen,
    $("clock").textContent,
    getScene().entity,
    ...tuned,
  ]);
});
links[1].click();
