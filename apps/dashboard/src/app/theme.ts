/** Light, dark, or as the system has it. */
import { createStore } from '../lib/store.ts'

/** What the reader has chosen. */
export type Theme = 'system' | 'light' | 'dark'

/** Where the browser keeps it. */
const PLACE = 'tutti.theme'

/** The theme of the page. */
export const theme = createStore<Theme>(storedTheme())

/** Shows the page in the theme that is chosen. */
export function applyTheme(): void {
  const chosen = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen)
  if (chosen === 'system') localStorage.removeItem(PLACE)
  else localStorage.setItem(PLACE, chosen)
  applyTheme()
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(PLACE)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}
