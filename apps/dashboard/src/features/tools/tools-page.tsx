/** The tools of the server, to be tried by hand. */
import { failureText } from '../../api/failure.ts'
import { toolsHref } from '../../api/links.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { cx } from '../../lib/cx.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { ToolBench } from './tool-bench.tsx'
import { ToolList } from './tool-list.tsx'
import styles from './tools.module.css'

/** The page; `name` is the tool that is chosen. */
export function ToolsPage({ name }: { readonly name: string | undefined }) {
  const { data, error, refetch } = useCapabilities()
  if (error !== null) {
    return (
      <Notice
        tone="failed"
        title="The tools could not be read"
        actions={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        <p>{failureText(error)}</p>
      </Notice>
    )
  }
  if (data === undefined) return <Loading label="Reading the tools" />
  const { tools } = data
  if (tools.length === 0) {
    return (
      <Empty title="This server offers no tools">
        Tools that its configuration registers can be tried here.
      </Empty>
    )
  }
  const tool = tools.find((one) => one.name === name)
  return (
    <div className={cx(styles['page'], name !== undefined && styles['chosen'])}>
      <nav className={styles['side']} aria-label="Choose a tool">
        {/* The tool that is chosen has the heading of the page. */}
        {name === undefined ? (
          <h1 className={styles['heading']}>Tools</h1>
        ) : (
          <p className={styles['heading']}>Tools</p>
        )}
        <ToolList tools={tools} chosen={name} />
      </nav>
      {tool !== undefined && <ToolBench key={tool.name} tool={tool} />}
      {name === undefined && (
        <div className={styles['unchosen']}>
          <Empty title="Choose a tool">Its input is a form that follows from its schema.</Empty>
        </div>
      )}
      {name !== undefined && tool === undefined && (
        <Empty
          title={`There is no tool "${name}"`}
          actions={<LinkButton href={toolsHref()}>To the tools</LinkButton>}
        />
      )}
    </div>
  )
}
