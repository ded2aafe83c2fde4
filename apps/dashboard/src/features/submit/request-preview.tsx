/** The request that the form makes, as JSON and as a command; it changes as one types. */
import { ROUTES, routePath } from '@tutti/protocol'

import { access } from '../../api/access.ts'
import { curlLine } from '../../api/curl-line.ts'
import { useStore } from '../../lib/use-store.ts'
import { CodeBlock } from '../../ui/show/text.tsx'
import styles from './submit.module.css'

/** The preview. */
export function RequestPreview({ body }: { readonly body: unknown }) {
  const { key } = useStore(access)
  const { method } = ROUTES.submitRun
  const path = routePath('submitRun')
  if (body === undefined) {
    return <p className={styles['soft']}>What is typed is no request yet.</p>
  }
  return (
    <div className={styles['preview']}>
      <details open>
        <summary>Body</summary>
        <CodeBlock label="body">{JSON.stringify(body, undefined, 2)}</CodeBlock>
      </details>
      <details>
        <summary>As a command</summary>
        <CodeBlock label="command">
          {curlLine({ method, path, body, hasKey: key !== undefined })}
        </CodeBlock>
      </details>
    </div>
  )
}
