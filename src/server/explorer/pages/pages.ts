/** The pages of the explorer by the address behind `#/`, and the frame around them. */

import { brandMark } from '../../../report/brand.ts'
import { html } from '../../../report/html.ts'
import { addressParts, PAGE_ADDRESS } from './address.ts'
import { companyPage } from './company.ts'
import { comparePage, compareState } from './compare.ts'
import { fragment } from './fragment.ts'
import { homePage } from './home.ts'
import { figureOfAddress, proofPage } from './proof.ts'
import { REPORT_PAGES, reportPage } from './report-page.ts'

/** A page by what stands behind `#/`; the first one where there is none such. */
export const page = fragment(PAGE_ADDRESS, (reader, { address }) => {
  const { parts, query } = addressParts(address)
  const [name = '', argument = ''] = parts
  const found = REPORT_PAGES.find(({ id }) => id === name)
  if (found !== undefined) return reportPage(reader, found, argument)
  if (name === 'company' && /^\d{1,19}$/.test(argument)) return companyPage(reader, argument)
  if (name === 'compare') return comparePage(reader, compareState(argument, query))
  const figure = figureOfAddress(parts)
  return figure === undefined ? homePage(reader, query) : proofPage(reader, figure)
})

const links = [{ id: '', title: 'Companies' }, ...REPORT_PAGES].map(
  ({ id, title }) => html`<li><a href="#/${id}">${title}</a></li>`,
)

/** The document, which holds no data: the frame of the pages and the sign-in as templates for its script. */
export const documentHtml = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="explorer/app.css">
<title>firmlake</title>
<script type="module" src="explorer/app.js"></script>
</head>
<body><noscript><p>This page needs JavaScript, of this server alone.</p></noscript>
<template id="frame"><header class="top"><div class="in"><a class="skip" href="#main">To the content</a><a class="brand" href="#/">${brandMark}firmlake</a><nav aria-label="Pages"><ul>${links}</ul></nav><span class="grow"></span><div class="mini"><search class="search"><label class="vh" for="search">Search companies by name, organisation number or identifier</label><svg viewBox="0 0 24 24" fill="none" stroke-width="2" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="M15.5 15.5 21 21"/></svg><input type="search" id="search" maxlength="200" autocomplete="off" spellcheck="false" placeholder="Name, number or identifier"><div class="panel"><p class="soft" role="status" data-slot="said"></p><div class="found"></div></div></search></div><button type="button" class="btn out">Sign out</button></div></header>
<main class="in" id="main" tabindex="-1"></main></template>
<template id="sign-in"><main class="solo"><div><span class="brand">${brandMark}firmlake</span><h1>Sign in to this lake</h1><p class="lead"></p>
<form><label for="token">Token</label><input type="password" id="token" autocomplete="off" spellcheck="false" required aria-describedby="token-hint">
<p class="hint" id="token-hint">It comes from the operator of this server: an entry of the file of <code>--tokens</code>, <code>FIRMLAKE_SERVE_TOKEN</code>, or the one that <code>firmlake serve</code> showed at its start.</p>
<button class="btn main" type="submit">Sign in</button><p class="said" role="status"></p></form>
<hr><p class="hint">The token is exchanged for a session of this tab, which survives a reload and ends when you sign out, when it is not used for an hour, or after twelve hours. The token itself is stored nowhere.</p></div></main></template>
</body>
</html>
`
