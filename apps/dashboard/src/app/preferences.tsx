/** The preferences of the reader: the theme, and the key of this tab. */
import { BookOpen, LogOut, Monitor, Moon, Settings2, Sun } from 'lucide-react'

import { access, forgetKey } from '../api/access.ts'
import { useIdentity } from '../api/use-identity.ts'
import { formatInstant } from '../lib/format.ts'
import { useStore } from '../lib/use-store.ts'
import { Menu, type MenuItem } from '../ui/layout/menu.tsx'
import { chooseTheme, theme } from './theme.ts'

import type { Identity } from '@tutti/protocol'

/** The menu at the end of the bar. */
export function Preferences() {
  const chosen = useStore(theme)
  const { key } = useStore(access)
  const themes: readonly MenuItem[] = [
    { label: 'Light', icon: <Sun />, onChoose: () => chooseTheme('light') },
    { label: 'Dark', icon: <Moon />, onChoose: () => chooseTheme('dark') },
    { label: 'As the system', icon: <Monitor />, onChoose: () => chooseTheme('system') },
  ]
  const others = themes.filter((_, index) => ['light', 'dark', 'system'][index] !== chosen)
  const docs = { label: 'API reference', icon: <BookOpen />, onChoose: openDocs }
  const identity = useIdentity()
  const forget = { label: 'Sign out', icon: <LogOut />, onChoose: forgetKey }
  const isSignedIn = key !== undefined && identity !== undefined
  const items = [...others, docs, ...(key === undefined ? [] : [forget])]
  return (
    <Menu
      label="Preferences"
      icon={<Settings2 />}
      items={items}
      note={isSignedIn ? <SignedInAs {...identity} /> : undefined}
    />
  )
}

/** The name of the key, its scopes and its end. */
function SignedInAs({ name, scopes, expiresAt }: Identity) {
  return (
    <>
      Signed in as <b>{name}</b>
      <br />
      {scopes.join(', ')}
      {expiresAt !== undefined && (
        <>
          <br />
          Expires {formatInstant(Date.parse(expiresAt))}
        </>
      )}
    </>
  )
}

function openDocs(): void {
  open('docs', '_blank', 'noopener')
}
