/** What stands where no run is: how to get the first, or how to see the others. */
import { access } from '../../api/access.ts'
import { curlLine } from '../../api/curl-line.ts'
import { runsHref, submitHref } from '../../api/links.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { useStore } from '../../lib/use-store.ts'
import { LinkButton } from '../../ui/controls/button.tsx'
import { Empty } from '../../ui/feedback/notice.tsx'
import { CodeBlock } from '../../ui/show/text.tsx'
import { isUnfiltered, type RunFilter } from './run-filter.ts'
import styles from './runs-page.module.css'

/** Nothing fits the filter, or nothing was submitted yet. */
export function NoRuns({ filter }: { readonly filter: RunFilter }) {
  const { key } = useStore(access)
  const { data } = useCapabilities()
  if (!isUnfiltered(filter)) {
    return (
      <Empty
        title="No run fits this filter"
        actions={<LinkButton href={runsHref()}>Show all runs</LinkButton>}
      />
    )
  }
  const [first] = data?.ensembles ?? []
  const inputs = Object.fromEntries(first?.variables.map((name) => [name, '…']) ?? [])
  const body = { ...(first === undefined ? {} : { ensemble: first.name }), inputs }
  return (
    <Empty
      title="No runs yet"
      actions={
        <LinkButton kind="primary" href={submitHref()}>
          New run
        </LinkButton>
      }
    >
      <p>Fill in the form, or submit one from a shell:</p>
      <div className={styles['line']}>
        <CodeBlock label="the line">
          {curlLine({ method: 'POST', path: '/api/runs', body, hasKey: key !== undefined })}
        </CodeBlock>
      </div>
    </Empty>
  )
}
