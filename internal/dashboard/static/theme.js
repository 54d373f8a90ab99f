// Runs before anything is painted, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem('overtone.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch { /* storage may be off */ }
