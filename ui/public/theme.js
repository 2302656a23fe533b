// Sets the theme before the first paint, so that the other theme does not flash.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Storage may be forbidden. The theme of the system is used.
  }
  var dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
})();
