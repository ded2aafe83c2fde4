/** The client of the components. */
import { createContext, createElement, useContext, type ReactNode } from 'react'

import type { TuttiClient } from '@tutti/client'

const ClientContext = createContext<TuttiClient | undefined>(undefined)

/** Properties of {@link TuttiProvider}. */
export interface TuttiProviderProps {
  /** Create it once, outside of components. */
  readonly client: TuttiClient
  readonly children?: ReactNode
}

/** Provides the client that the hooks of all components below it use. */
export function TuttiProvider({ client, children }: TuttiProviderProps): ReactNode {
  return createElement(ClientContext.Provider, { value: client }, children)
}

/**
 * Returns the client of the nearest {@link TuttiProvider}.
 *
 * @throws {Error} outside of one.
 */
export function useTuttiClient(): TuttiClient {
  const client = useContext(ClientContext)
  if (client === undefined) {
    throw new Error('The hooks of @tutti/react must be called below a TuttiProvider')
  }
  return client
}
