/** A button that opens the browser's choice of files. */
import { useRef } from 'react'

import { Button, type ButtonKind } from '../../ui/controls/button.tsx'

/** The button; the same file can be chosen again. */
export function FileButton({
  onFile,
  kind = 'plain',
  children,
}: {
  readonly onFile: (file: File) => void
  readonly kind?: ButtonKind
  readonly children: string
}) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button kind={kind} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".json,.ndjson,.jsonl,application/json,application/x-ndjson"
        aria-label={children}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          currentTarget.value = ''
          if (file !== undefined) onFile(file)
        }}
      />
    </>
  )
}
