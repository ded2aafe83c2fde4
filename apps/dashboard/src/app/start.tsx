/** Renders the dashboard. */
import '../ui/tokens/base.css'

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { App } from './app.tsx'
import { applyTheme } from './theme.ts'

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no element "root"')
applyTheme()
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
