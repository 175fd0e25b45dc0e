import type { Json } from '../ground/json.ts'
import type { ToolAnswer } from './answer.ts'

/** Something that an assistant can do, in the terms of the protocol. */
export interface AssistantTool {
  /** 1 to 128 letters, digits and underscores. */
  name: string
  title: string
  description: string
  /** JSON Schema of the arguments: an object without combinations at its top, which some clients refuse. */
  inputSchema: Json & { type: 'object'; properties: Json; required?: readonly string[] }
  annotations: ToolHints
  /** The arguments have the names of the schema. @throws ControlError with a sentence about what would be right */
  call(args: Json): Promise<ToolAnswer>
}

interface ToolHints {
  readOnlyHint: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  /** Whether it reaches other systems than the stand-in. */
  openWorldHint: boolean
}

/** The hints of a tool that changes nothing. */
export const READS: ToolHints = { readOnlyHint: true, openWorldHint: false }
