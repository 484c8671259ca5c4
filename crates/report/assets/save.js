'use strict';

// A chart as a file for a slide: with its heading and legend, which on the page stand around it.
(() => {
  const SIZE = { width: 1200, height: 675 };

  fizeau.save = async (chart, kind) => {
    const name = `${chart.name}.${kind.toLowerCase()}`;
    const { svg, size } = drawing(chart);
    if (kind === 'SVG') fizeau.download(name, new Blob([svg], { type: 'image/svg+xml' }));
    else fizeau.download(name, await raster(svg, size));
  };

  fizeau.download = (name, blob) => {
    const url = URL.createObjectURL(blob);
    const link = fizeau.element('a', { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  };

  const drawing = (chart) => {
    const view = { ...chart.view(), width: SIZE.width, isNarrow: false, isStill: true };
    const built = chart.build(view);
    if (built.empty) return { svg: '<svg xmlns="http://www.w3.org/2000/svg"/>', size: SIZE };
    const size = { ...SIZE, height: Math.max(SIZE.height, lower(built.height || 0)) };
    const instance = globalThis.echarts.init(null, null, { renderer: 'svg', ssr: true, ...size });
    const option = fizeau.complete(built, view, chart.hidden);
    const names = (built.legend || []).map((entry) => entry.name).filter((entry) => !chart.hidden.has(entry));
    instance.setOption({
      ...option,
      backgroundColor: view.colours.paper,
      title: { text: heading(chart), left: 16, top: 12, textStyle: { color: view.colours.ink, fontSize: 20 } },
      legend: { ...option.legend, show: true, data: names, top: 46, left: 16, right: 16, textStyle: { color: view.colours.ink } },
      grid: [option.grid].flat().map((grid) => ({ ...grid, top: lower(grid.top), left: Math.max(24, grid.left), right: Math.max(32, grid.right) })),
      tooltip: { show: false },
    });
    fizeau.placeLabels(instance, built.option.series);
    const svg = instance.renderToSVGString();
    instance.dispose();
    return { svg, size };
  };

  // Room for the heading and the legend above the first plot.
  const lower = (top) => (typeof top === 'number' ? top + 90 : top);

  const heading = (chart) => {
    const section = chart.figure.closest('section');
    const text = section?.querySelector('h2, h3')?.textContent || chart.name;
    const titles = [...new Set(chart.runs.map((run) => run.title).filter(Boolean))];
    return titles.length === 1 ? `${text}: ${titles[0]}` : text;
  };

  // The drawing as a PNG of twice the size, for sharp screens.
  const raster = async (svg, size) => {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = fizeau.element('canvas', { width: size.width * 2, height: size.height * 2 });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  };
})();
