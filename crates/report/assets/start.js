'use strict';

// Everything is there: charts and tables come to life, and follow the colours and the paper.
(() => {
  const start = () => {
    const { runs } = fizeau.data();
    fizeau.addTables();
    if (globalThis.echarts) fizeau.addCharts(runs);
    for (const query of ['(prefers-color-scheme: dark)', 'print', '(prefers-reduced-motion: reduce)']) {
      matchMedia(query).addEventListener('change', fizeau.drawAll);
    }
    document.documentElement.dataset.scripts = 'yes';
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
