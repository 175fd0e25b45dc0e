/** The style of the HTML report: the colours of the dashboard, light and dark, for phones, screens and paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f8, #0f1217);
  --surface: light-dark(#ffffff, #171b22);
  --raised: light-dark(#eff1f5, #1f242d);
  --line: light-dark(#dfe3e9, #2b323d);
  --text: light-dark(#1a1f28, #e7eaef);
  --soft: light-dark(#565f6f, #a0aab9);
  --accent: light-dark(#1a5fb4, #85b8f5);
  --good: light-dark(#1a6339, #7cd7a2);
  --good-ground: light-dark(#e1f3e8, #15301f);
  --warn: light-dark(#7f4500, #f0b970);
  --warn-ground: light-dark(#fcefda, #35270f);
  --bad: light-dark(#a01b2a, #ff9f9f);
  --bad-ground: light-dark(#fde7e8, #3b1a1d);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  font: 15px / 1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; }
h1 { font-size: 1.35rem; letter-spacing: -0.01em; line-height: 1.3; }
h2 { font-size: 1.05rem; margin-top: 0.75rem; }
h3 { font-size: 1rem; }
section { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
ol.findings { list-style: none; padding: 0; display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.15rem; display: grid; gap: 0.75rem; grid-template-columns: minmax(0, 1fr); }
.finding { border-inline-start-width: 4px; }
.finding.error { border-inline-start-color: var(--bad); }
.finding.warning { border-inline-start-color: var(--warn); }
.finding.note { border-inline-start-color: var(--accent); }
.row { display: flex; flex-wrap: wrap; gap: 0.4rem 0.6rem; align-items: baseline; }
.summary { font-size: 1.05rem; }
.soft { color: var(--soft); }
.badge { border-radius: 5px; padding: 0.05rem 0.5rem; font-size: 0.8rem; font-weight: 600; white-space: nowrap; background: var(--raised); color: var(--soft); }
.badge.passed { background: var(--good-ground); color: var(--good); }
.badge.warning { background: var(--warn-ground); color: var(--warn); }
.badge.failed, .badge.error { background: var(--bad-ground); color: var(--bad); }
code, pre { font-family: var(--mono); font-size: 0.88em; unicode-bidi: isolate; }
pre { white-space: pre-wrap; background: var(--raised); border-radius: 6px; padding: 0.6rem 0.75rem; max-height: 26rem; overflow: auto; }
mark { background: var(--warn-ground); color: var(--warn); border-radius: 3px; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: 0.15rem 1rem; }
dt { color: var(--soft); }
dd { unicode-bidi: isolate; }
.remedy { border-inline-start: 3px solid var(--good); padding-inline-start: 0.75rem; display: grid; gap: 0.4rem; grid-template-columns: minmax(0, 1fr); }
.pair { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); }
.pair > div { display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); align-content: start; }
.label { font-size: 0.8rem; font-weight: 600; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.93rem; }
th { text-align: start; font-size: 0.8rem; color: var(--soft); background: var(--raised); }
th, td { padding: 0.35rem 0.7rem; vertical-align: baseline; min-width: 5rem; }
td { border-top: 1px solid var(--line); unicode-bidi: isolate; }
summary { cursor: pointer; font-weight: 600; }
details[open] > summary { margin-bottom: 0.6rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
footer { color: var(--soft); font-size: 0.86rem; }
@media (max-width: 40rem) {
  main { padding: 1rem 0.75rem 2rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd + dt { margin-top: 0.35rem; }
}
@media print {
  :root { color-scheme: light; font-size: 10.5pt; }
  body, main { background: none; }
  main { max-width: none; padding: 0; }
  pre { max-height: none; overflow: visible; border: 1px solid var(--line); }
  .finding { break-inside: avoid-page; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`
