const links = [...document.querySelectorAll("#diagnoses a")];
const seen = [document.querySelectorAll("#diagnoses li").length, links.map((one) => one.textContent)];
addEventListener("hashchange", () => { document.body.dataset.seen = JSON.stringify([...seen, $("clock").textContent, scene().entity]); });
links[1].click();
