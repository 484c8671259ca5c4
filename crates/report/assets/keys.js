'use strict';

// The keyboard in a chart: arrows walk its points and say them aloud, + and - zoom, 0 shows everything, Escape leaves.
(() => {
  fizeau.addKeys = (chart) => {
    const aloud = fizeau.element('div', { class: 'aloud', 'aria-live': 'polite' });
    chart.figure.append(aloud);
    let at = -1;
    const go = (to) => {
      const points = chart.points();
      if (points.length === 0) return;
      at = (to + points.length) % points.length;
      const { seriesIndex, dataIndex, tip } = points[at];
      chart.instance.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
      aloud.textContent = fizeau.tipText(tip);
    };
    const leave = () => {
      at = -1;
      aloud.textContent = '';
      if (chart.instance) chart.instance.dispatchAction({ type: 'hideTip' });
    };
    const acts = {
      ArrowRight: () => go(at + 1),
      ArrowDown: () => go(at + 1),
      ArrowLeft: () => go(at < 0 ? -1 : at - 1),
      ArrowUp: () => go(at < 0 ? -1 : at - 1),
      Home: () => go(0),
      End: () => go(-1),
      Escape: leave,
      '+': () => zoom(chart, 0.8),
      '-': () => zoom(chart, 1.25),
      0: () => chart.draw(),
    };
    chart.plot.setAttribute('aria-keyshortcuts', 'ArrowRight ArrowLeft Home End + - 0 Escape');
    chart.plot.addEventListener('keydown', (event) => {
      const act = acts[event.key];
      if (!act || !chart.instance || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    chart.plot.addEventListener('blur', leave);
  };

  // Shows `times` as much of each axis as now, about the middle.
  const zoom = (chart, times) => {
    if (chart.kind.cannotZoom) return;
    for (const { id, start = 0, end = 100 } of chart.instance.getOption().dataZoom) {
      const [middle, half] = [(start + end) / 2, ((end - start) / 2) * times];
      const [from, to] = [Math.max(0, middle - half), Math.min(100, middle + half)];
      chart.instance.dispatchAction({ type: 'dataZoom', dataZoomId: id, start: from, end: to });
    }
  };
})();
