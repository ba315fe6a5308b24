/* Coverage: sunbursts whose wedges are links, and arrow keys in the matrix.
 *
 * The figures stand in #coverage-figures as the server made them; figure.js draws them. In a
 * sunburst the arrow keys step from wedge to wedge, Enter opens its list. */
(function () {
  'use strict';
  const { Plotly } = window;
  const source = document.getElementById('coverage-figures');

  const go = (url) => {
    if (url) location.assign(url);
  };

  function mark(plot, at) {
    const [trace] = plot.data;
    const place = (at + trace.ids.length) % trace.ids.length;
    plot.dataset.at = String(place);
    const paper = trace.marker.line.color;
    const lines = trace.ids.map((_, number) => (number === place ? 3 : 1));
    Plotly.restyle(plot, { 'marker.line.width': [lines], 'marker.line.color': [paper] });
    const count = trace.values[place].toLocaleString('en');
    const words = `${trace.labels[place]}: ${count}`;
    const last = plot.closest('[data-figure]').querySelector('[data-last]');
    last.textContent = words;
    window.studio.announce(words);
  }

  document.addEventListener('keydown', (event) => {
    const plot = event.target;
    if (!plot.matches?.('.burst[data-drawn]') || event.ctrlKey || event.metaKey) return;
    const at = Number(plot.dataset.at ?? -1);
    const acts = {
      ArrowRight: () => mark(plot, at + 1),
      ArrowDown: () => mark(plot, at + 1),
      ArrowLeft: () => mark(plot, at - 1),
      ArrowUp: () => mark(plot, at - 1),
      Home: () => mark(plot, 0),
      End: () => mark(plot, -1),
      Enter: () => go(plot.data[0].customdata[at]),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  /* The matrix: one step by an arrow key, past cells that cannot be. */
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  document.addEventListener('keydown', (event) => {
    const cell = event.target.closest?.('.mx td');
    const step = steps[event.key];
    if (!cell || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...cell.closest('table').tBodies[0].rows];
    let row = rows.indexOf(cell.parentElement) + step[0];
    let column = cell.cellIndex + step[1];
    while (rows[row]?.cells[column]) {
      const link = rows[row].cells[column].querySelector('a');
      if (link) {
        event.preventDefault();
        link.focus();
        return;
      }
      row += step[0];
      column += step[1];
    }
  });

  async function start() {
    if (!source || !window.studio.figures) return;
    await window.studio.figures.draw(JSON.parse(source.textContent));
    document.querySelectorAll('.burst[data-drawn]').forEach((plot) => {
      // A click opens the list instead of zooming in.
      plot.on('plotly_sunburstclick', (event) => {
        go(event.points?.[0]?.customdata);
        return false;
      });
    });
  }
  start();
})();
