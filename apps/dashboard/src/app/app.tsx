/** The dashboard: who may see it, its frame, and the page that the address names. */
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { access, refuseKey, setKey } from '../api/access.ts'
import { connectServer, ServerContext, type Server } from '../api/server.ts'
import { KeyScreen } from '../features/access/key-screen.tsx'
import { useStore } from '../lib/use-store.ts'
import { Toasts } from '../ui/feedback/toasts.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Pages } from './pages.tsx'
import { Shell } from './shell.tsx'

/** The whole page. */
export function App() {
  const { key, isRefused } = useStore(access)
  return (
    <ErrorBoundary>
      {isRefused ? (
        <KeyScreen wasRefused={key !== undefined} onKey={setKey} />
      ) : (
        // Nothing of one key is left under another.
        <Connected key={key ?? ''} apiKey={key} />
      )}
      <Toasts />
    </ErrorBoundary>
  )
}

function Connected({ apiKey }: { readonly apiKey: string | undefined }) {
  const [server, setServer] = useState<Server>()
  useEffect(() => {
    const opened = connectServer(apiKey, refuseKey)
    setServer(opened)
    return () => opened.close()
  }, [apiKey])
  if (server === undefined) return null
  return (
    <ServerContext value={server}>
      <QueryClientProvider client={server.answers}>
        <Shell>
          <Pages />
        </Shell>
      </QueryClientProvider>
    </ServerContext>
  )
}
