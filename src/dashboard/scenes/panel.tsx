/** The view Scenes. */
export function ScenesPanel() {
  return <p class="empty">Scenes</p>
}
