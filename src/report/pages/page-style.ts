/** The looks of the report's page. Every text has a contrast of at least 4.5 to 1 on its ground, every mark 3 to 1, in light and in dark. */

export const light = `--ground:#f5f6f8;--card:#fff;--ink:#1b1f26;--soft:#555e6b;--edge:#c3c9d2;--grid:#e6e9ee;--code:#eef0f4;
--good:#1a7340;--bad:#b3261e;--open:#8a5a00;--link:#0a58b0;
--c1:#0b63c5;--c2:#b8420c;--c3:#6f42b5;--c4:#00756b;--c5:#866000`;

const dark = `--ground:#12151a;--card:#1b1f26;--ink:#e9ecf1;--soft:#a7b0bd;--edge:#4a5362;--grid:#2b313b;--code:#252b34;
--good:#5ecb8b;--bad:#ff8f85;--open:#f0be5e;--link:#7ab8ff;
--c1:#6cb2ff;--c2:#ff9d6e;--c3:#c9a5ff;--c4:#4fd1c1;--c5:#e3bd5b`;

export const pageStyle = `
:root{color-scheme:light dark;${light}}
@media (prefers-color-scheme:dark){:root{${dark}}}
@media print{:root{${light}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:1040px;margin:0 auto;padding:0 20px}
header{padding-top:28px}
h1{font-size:clamp(1.35rem,1rem + 1.6vw,1.9rem);line-height:1.25;margin:.2em 0 .4em;text-wrap:balance}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .3em}
h3{font-size:1.02rem;margin:1.6em 0 .5em}
p{margin:.4em 0 .8em;max-width:70ch}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,pre:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.kicker{color:var(--soft);font-size:.9rem;margin:0}
.verdict{background:var(--card);border:1px solid var(--edge);border-left:8px solid var(--tone);border-radius:10px;padding:18px 22px;margin:14px 0 8px}
.verdict .word{color:var(--tone);font-weight:700;letter-spacing:.02em;text-transform:uppercase;font-size:.85rem;margin:0}
.healthy{--tone:var(--good)}.faulty,.unexplained{--tone:var(--bad)}.not-enough-evidence{--tone:var(--open)}
section{background:var(--card);border:1px solid var(--edge);border-radius:10px;padding:20px 22px;margin:18px 0}
code,pre,kbd{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{background:var(--code);border-radius:4px;padding:.1em .3em}
pre{background:var(--code);border-radius:8px;padding:12px 14px;margin:.4em 0 1em;overflow-x:auto;overflow-wrap:normal}
pre code{background:none;padding:0}
dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px 18px;margin:14px 0}
dl.facts div{border-left:3px solid var(--grid);padding-left:10px}
dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-weight:600}
.bars{display:grid;grid-template-columns:auto 1fr auto;gap:6px 12px;align-items:center;margin:.6em 0 1em;font-size:.92rem}
.bar{height:14px;border-radius:3px;background:var(--grid);overflow:hidden}
.bar i{display:block;height:100%;min-width:2px}
.before{background:var(--bad)}.after{background:var(--good)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--grid);vertical-align:top}
th{color:var(--soft);font-weight:600;font-size:.85rem}
th[scope=row]{min-width:9.5em}
td.n{font-variant-numeric:tabular-nums}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:18px 26px}
figure{margin:0 0 6px;min-width:0}
figure.pair,figure.wide{grid-column:1/-1}
figure.wide svg{max-width:800px}
th[scope=col]{overflow-wrap:normal}
td.num{white-space:nowrap}
figure .panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:10px 26px}
figure h3{margin:.6em 0 .2em}
.panel p{margin:0 0 4px;font-size:.92rem}
.panel p b{display:block}
.panel p span{color:var(--soft)}
.tokens{white-space:pre-wrap;max-width:none;line-height:1.9}
.tokens span{border-radius:3px;padding:.1em 0}
.tokens i{font-style:normal;font-size:.85em;border:1px solid var(--edge);border-radius:3px;padding:0 .25em;margin:0 .1em}
.tokens .other{border-bottom:2px dotted var(--soft)}
figcaption{color:var(--soft);font-size:.9rem;max-width:75ch}
svg{display:block;width:100%;height:auto;max-width:520px}
ul.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:2px 0 6px;padding:0;font-size:.9rem}
ul.legend svg{display:inline-block;width:30px;height:10px;margin-right:6px;vertical-align:middle}
.readings{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,225px),1fr));gap:14px}
.reading{border:1px solid var(--grid);border-radius:8px;padding:10px 12px;min-width:0}
.reading h3{margin:0;font-size:.95rem}
.reading p{margin:.15em 0;font-size:.86rem;color:var(--soft)}
.reading p.v{font-size:1.02rem;color:var(--ink);font-variant-numeric:tabular-nums}
.place{font-weight:600;white-space:nowrap}
.pass,.inside{color:var(--good)}.fail{color:var(--bad)}.warn,.below,.above{color:var(--open)}.not-checked{color:var(--soft)}
details{margin:.6em 0}summary{cursor:pointer;font-weight:600}
ul.plain{padding-left:1.2em;margin:.3em 0 .8em}
footer{padding-bottom:40px;color:var(--soft);font-size:.92rem}
@media (max-width:560px){main,header,footer{padding-left:12px;padding-right:12px}section,.verdict{padding:14px 14px}
table.fold thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
table.fold tr{display:block;padding:6px 0;border-bottom:1px solid var(--grid)}
table.fold td,table.fold th[scope=row]{display:block;border:0;padding:1px 0}
table.fold td[data-of]::before{content:attr(data-of) ": ";color:var(--soft)}}
`
  .trim()
  .replace(/\n/g, '');
