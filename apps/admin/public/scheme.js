// Runs before the first paint, as a file of its own because the content security policy allows no inline script.
(function () {
  var root = document.documentElement;
  var kept = null;
  try {
    kept = localStorage.getItem('muster-scheme');
  } catch {
    kept = null;
  }
  var dark = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
