/** The color theme: light, dark, or that of the system. */
import { createStore } from '../lib/store.ts'

/** Theme that the reader chose. */
export type Theme = 'system' | 'light' | 'dark'

/** Key in the local storage. */
const STORAGE_KEY = 'tutti.theme'

/** The theme of the page. */
export const theme = createStore<Theme>(readStoredTheme())

/** Applies the chosen theme to the page. */
export function applyTheme(): void {
  const chosen = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen)
  if (chosen === 'system') localStorage.removeItem(STORAGE_KEY)
  else localStorage.setItem(STORAGE_KEY, chosen)
  applyTheme()
}

function readStoredTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}
