/** Names that somebody may have given to a company, a person or a line item, and that must stay text on every page. */

export const HOSTILE_NAMES: readonly string[] = [
  '<img src=x onerror="document.title=1">',
  '</code></pre></style></title></textarea><script>document.title=2</script>',
  '"><svg/onload=document.title=3>',
  "' autofocus onfocus='document.title=4' x='",
  '" onmouseover="document.title=5" style="position:fixed;inset:0" y="',
  'javascript:document.title=6',
  '<base href="//example.invalid/"><form action="//example.invalid/"><input name=x>',
  '<div data-part="search" data-ask="{}" data-title="7">',
  '<button data-file="workbook" data-ask="{}">8</button>',
  '<!-- --!><plaintext><template><noscript><math><mtext></p><style>*{display:none}</style>',
  '<iframe srcdoc="&lt;script&gt;parent.document.title=9&lt;/script&gt;"></iframe>',
  '&lt;b&gt; &#60;b&#62; &amp;lt; {{10}} %3Cb%3E',
  'ab\u202edcba\u2066\u0007 &amp; \'"',
  `L${'o'.repeat(3998)}g`,
  '\u0000\u0001\u007f\ud800 lone \udc00 \ufffe \u2028 \u2029',
  '__proto__',
  'constructor',
  ' ',
  '\n\r\n\t',
  '🏴‍☠️👨‍👩‍👧‍👦 e\u0301\u0301\u0301\u0301',
]
