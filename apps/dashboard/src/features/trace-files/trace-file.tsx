/**
 * Opens a trace file and shows it as a run. The file is read in this page; nothing of it is sent anywhere.
 */
import { Fragment, useState, type DragEvent, type ReactNode } from 'react'

import { cx } from '../../lib/cx.ts'
import { ShownTime } from '../../lib/use-now.ts'
import { Loading } from '../../ui/feedback/notice.tsx'
import unseen from '../../ui/show/unseen.module.css'
import { FileHead } from './file-head.tsx'
import { FilePicker } from './file-picker.tsx'
import { FileProblems } from './file-problems.tsx'
import { useOpenedFile } from './use-opened-file.ts'
import styles from './trace-file.module.css'

import type { RunLog } from '../../api/run-log.ts'
import type { RunState } from '@tutti/protocol'

/** The page; `children` shows the run that a file tells of, with its log when the file is one. */
export function TraceFile({
  children,
}: {
  readonly children: (state: RunState, log?: RunLog) => ReactNode
}) {
  const { opened, open, close } = useOpenedFile()
  const [isOver, setOver] = useState(false)
  const drop = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: (event: DragEvent) => {
      // NOTE: what the pointer goes to is an element of this page, or nothing.
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      const [file] = event.dataTransfer.files
      if (file !== undefined) open(file)
    },
  }
  return (
    <div className={cx(styles['page'], isOver && styles['over'])} role="presentation" {...drop}>
      <h1 className={unseen['unseen']}>Trace files</h1>
      {opened.phase === 'none' && <FilePicker onFile={open} />}
      {opened.phase === 'reading' && (
        <Loading label={`Reading ${opened.name}: ${Math.round(opened.done * 100)} %`} />
      )}
      {opened.phase === 'failed' && <FileProblems {...opened} onFile={open} />}
      {opened.phase === 'open' && (
        <Fragment key={opened.count}>
          <FileHead name={opened.name} facts={opened.facts} onFile={open} onClose={close} />
          <ShownTime value={opened.at}>{children(opened.state, opened.log)}</ShownTime>
        </Fragment>
      )}
    </div>
  )
}
