/** An episode as one page that plays it, with the controls of the studio's replay. It asks for nothing, and without script it shows the first picture. */
import { told } from '../../language/language.ts';
import { safeText } from '../safe-text.ts';
import { pageStyle } from './page-style.ts';

export interface Film {
  title: string;
  /** Who plays, in a sentence. */
  players: string;
  /** One `<svg>` for each step. */
  pictures: readonly string[];
  /** By seat: what each is called and drawn in, and what every step paid it. */
  seats: readonly { name: string; colour: string; paid: readonly number[] }[];
}

const style = `
.frames svg{max-width:100%;max-height:calc(100vh - 17rem);width:auto;min-width:min(100%,480px);margin:0 auto}
.controls{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:12px 0}
.controls button,.controls select{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--edge);border-radius:8px;padding:5px 12px;cursor:pointer}
.controls #play{min-width:6em;font-weight:700}
.controls input{flex:1 1 160px;min-width:120px}
.controls button:focus-visible,.controls select:focus-visible,.controls input:focus-visible{outline:3px solid var(--link)}
#count{min-width:8em;font-variant-numeric:tabular-nums}
.seats{display:flex;flex-wrap:wrap;gap:6px 18px;list-style:none;padding:0;margin:0 0 8px}
.seats i{display:inline-block;width:1em;height:1em;border-radius:50%;vertical-align:-.1em}
.seats b{font-variant-numeric:tabular-nums}
.keys{color:var(--soft);font-size:.88rem}`;

/** Runs in the page; `texts` and `paid` are written before it. */
const script = `
const frames=[...document.querySelectorAll('.frames>div')],last=frames.length-1,$=(id)=>document.getElementById(id);
const slider=$('slider'),speed=$('speed'),sums=[...document.querySelectorAll('.seats b')];
const rates=[...speed.options].map((option)=>Number(option.value));
let step=0,playing=false,before=0;
const short=(value)=>String(Math.round(value*100)/100);
function go(to){
  frames[step].hidden=true;
  step=Math.max(0,Math.min(last,to));
  frames[step].hidden=false;
  slider.value=step;
  $('count').textContent=texts.count.replace('{n}',step).replace('{all}',last);
  slider.setAttribute('aria-label',$('count').textContent);
  sums.forEach((sum,seat)=>{const own=paid[seat].slice(0,step+1).reduce((a,b)=>a+b,0);sum.textContent=short(own)+(paid[seat][step]?' ('+(paid[seat][step]>0?'+':'')+short(paid[seat][step])+')':'')});
}
function play(on){
  if(on&&step>=last)go(0);
  playing=on;
  $('play').textContent=on?texts.pause:texts.play;
}
function tick(now){
  if(playing&&now-before>1000/Number(speed.value)){before=now;if(step>=last)play(false);else go(step+1)}
  requestAnimationFrame(tick);
}
$('first').onclick=()=>go(0);
$('back').onclick=()=>go(step-1);
$('play').onclick=()=>play(!playing);
$('on').onclick=()=>go(step+1);
$('last').onclick=()=>go(last);
slider.oninput=()=>go(Number(slider.value));
addEventListener('keydown',(event)=>{
  if(event.ctrlKey||event.metaKey||event.altKey||event.target===speed)return;
  const at=rates.indexOf(Number(speed.value));
  if(event.key==='ArrowRight')go(step+1);
  else if(event.key==='ArrowLeft')go(step-1);
  else if(event.key===' '&&event.target.tagName!=='BUTTON')play(!playing);
  else if(event.key==='Home')go(0);
  else if(event.key==='End')go(last);
  else if(event.key==='+'||event.key==='=')speed.value=rates[at+1]??rates[at];
  else if(event.key==='-')speed.value=rates[at-1]??rates[at];
  else return;
  event.preventDefault();
});
go(0);requestAnimationFrame(tick);`;

const rates = [1, 2, 4, 8, 16, 30];

export function playerPage({ title, players, pictures, seats }: Film): string {
  const button = (id: string, name: string, sign: string) =>
    `<button id="${id}" aria-label="${name}" title="${name}">${sign}</button>`;
  const texts = {
    play: told('Play', '播放'),
    pause: told('Pause', '暂停'),
    count: told('step {n} of {all}', '第 {n} 步，共 {all} 步'),
  };
  // A number is the same in JSON and in a script; the texts are ours.
  const data = `const texts=${JSON.stringify(texts)},paid=${JSON.stringify(seats.map(({ paid }) => paid))};`;
  return [
    `<!doctype html>\n<html lang="${told('en', 'zh')}"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">',
    `<title>${safeText(title)}</title><style>${pageStyle}${style}</style></head><body>`,
    `<header><h1>${safeText(title)}</h1><p>${safeText(players)}</p></header><main class="player"><section>`,
    `<ul class="seats">${seats.map(({ name, colour }, seat) => `<li><i style="background:${safeText(colour)}"></i> ${seat + 1} ${safeText(name)} <b></b></li>`).join('')}</ul>`,
    `<div class="frames">${pictures.map((svg, i) => `<div${i === 0 ? '' : ' hidden'}>${svg}</div>`).join('\n')}</div>`,
    '<div class="controls">',
    button('first', told('To the start', '回到开头'), '|◀'),
    button('back', told('One step back', '后退一步'), '◀'),
    `<button id="play">${texts.play}</button>`,
    button('on', told('One step on', '前进一步'), '▶'),
    button('last', told('To the end', '跳到结尾'), '▶|'),
    `<input id="slider" type="range" min="0" max="${pictures.length - 1}" value="0" aria-label="${told('step', '步')}"><span id="count"></span>`,
    `<label>${told('Speed', '速度')} <select id="speed">${rates.map((rate) => `<option value="${rate}"${rate === 4 ? ' selected' : ''}>${told(`${rate} a second`, `每秒 ${rate} 步`)}</option>`).join('')}</select></label></div>`,
    `<p class="keys">${told('Space plays, arrows step, Home and End jump, + and - change the speed.', '空格播放，方向键逐步，Home 与 End 跳转，+ 与 - 调速。')}</p>`,
    `</section></main><script>${data}${script}</script></body></html>\n`,
  ].join('\n');
}
