"""The look of a report. It is code, not a file of its own, so that changing it makes the page anew."""

STYLE = """
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--faint:#595959;--line:#d5d5d5;--link:#0b57a4;--wash:#f5f5f3}
@media (prefers-color-scheme:dark){
:root{--ink:#e8e6e3;--paper:#17181a;--faint:#b0aeaa;--line:#45474b;--link:#8ab8f0;--wash:#222427}}
*{box-sizing:border-box}
html{scroll-padding-top:1em}
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--paper);overflow-wrap:break-word}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
:target{outline:2px solid var(--link);outline-offset:4px}
.skip{position:absolute;left:-99em}
.skip:focus{left:1em;top:1em;padding:.5em 1em;background:var(--paper);z-index:1}
header,main,footer{padding:0 1.2em;max-width:82em;margin:0 auto}
nav{padding:1em 1.2em;background:var(--wash);border-bottom:1px solid var(--line)}
nav ul{list-style:none;margin:.2em 0;padding-left:1em}
nav>ul{padding:0}
nav li{margin:.3em 0}
nav details{margin:0}
h1,h2,h3,h4{line-height:1.25;text-wrap:balance}
h2{margin-top:2.5em;padding-top:.6em;border-top:2px solid var(--line)}
h3{margin-top:2em;color:var(--faint)}
article{margin:1.5em 0 3em}
figure{margin:0}
figcaption{max-width:50em;margin-top:.6em}
.plate{background:#fff;border:1px solid var(--line);border-radius:6px;padding:.5em;overflow-x:auto}
.plate img{display:block;max-width:100%;height:auto;margin:auto}
.wide{overflow-x:auto}
.wide svg{display:block}
.wide table{width:max-content;max-width:100%;border-collapse:collapse;font-size:.92em}
.wide td,.wide th{font-variant-numeric:tabular-nums;text-align:left;vertical-align:top;
padding:.3em .8em .3em 0;border-bottom:1px solid var(--line)}
.wide tbody th{font-weight:normal}
details{margin:.5em 0}
summary{cursor:pointer;color:var(--link)}
dt{font-weight:600;margin-top:.5em}
dd{margin:0 0 0 1.2em;overflow-wrap:anywhere}
svg text{font-family:system-ui,sans-serif}
main .claims table{font-size:.88em}
footer{color:var(--faint);padding-bottom:2em}
@media (max-width:50em){.plate img{max-width:none;min-width:44em}.wide table{max-width:56em}}
@media (min-width:75em){
body{display:grid;grid-template-columns:16em minmax(0,1fr);grid-template-areas:"nav header" "nav main" "nav footer"}
header{grid-area:header}main{grid-area:main}footer{grid-area:footer}
header,main,footer{margin:0;padding:0 2em}
nav{grid-area:nav;position:sticky;top:0;height:100vh;overflow-y:auto;border:0;border-right:1px solid var(--line)}}
@media print{nav,.skip{display:none}body{display:block}.plate,article{break-inside:avoid}}
"""
