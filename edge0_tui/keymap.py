"""Which keys the actions have now: the registry's, changed where the person wants others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edge0_tui.keys import ACTIONS, BY_ID, Action, bound, meet, show_key
from edge0_tui.mentions import put_in


@dataclass(frozen=True)
class Keymap:
    """`changed` holds, by action, the keys that differ from the registry's; none at all is allowed."""

    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def keys(self, id: str) -> tuple[str, ...]:
        """The action's keys, most important first."""
        return self.changed.get(id, BY_ID[id].keys)

    def label(self, id: str) -> str:
        """Its first key as key bars show it; empty if it has none."""
        keys = self.keys(id)
        return show_key(keys[0]) if keys else ""

    def say(self, text: str) -> str:
        """Texts that name an action's key as `{key:models}` say the key it has now: `ctrl+o`."""
        return put_in(text, self._mention)

    def holder(self, id: str, key: str) -> Action | None:
        """Another action that has this key where `id` could be used, too."""
        mine = BY_ID[id]
        others = (action for action in ACTIONS if action.id != id and meet(action.scope, mine.scope))
        return next((one for one in others if key in self.keys(one.id) and not _shared(key, one, mine)), None)

    def having(self, id: str, keys: tuple[str, ...]) -> Keymap:
        """This keymap with other keys for one action; the registry's are nothing changed."""
        rest = {name: value for name, value in self.changed.items() if name != id}
        return Keymap(rest if keys == BY_ID[id].keys else {**rest, id: keys})

    def for_textual(self) -> dict[str, str]:
        """As `App.set_keymap` takes it."""
        return {id: bound(id, keys) for id, keys in self.changed.items()}

    def _mention(self, id: str) -> str | None:
        if (action := BY_ID.get(id)) is None:
            return None
        keys = self.keys(id)
        return keys[0].replace("escape", "esc") if keys else f"“{action.label}” in the palette"


def clashes(keymap: Keymap) -> list[tuple[str, Action, Action]]:
    """Keys that two actions of one place have, with both. One of these has other keys than the registry's."""
    found = []
    for number, one in enumerate(ACTIONS):
        for other in ACTIONS[number + 1 :]:
            if meet(one.scope, other.scope):
                both = set(keymap.keys(one.id)) & set(keymap.keys(other.id))
                found += [(key, one, other) for key in sorted(both) if not _shared(key, one, other)]
    return found


def _shared(key: str, one: Action, other: Action) -> bool:
    """Whether both have the key in the registry: escape leaves a message, and elsewhere in the chat it stops."""
    return key in one.keys and key in other.keys


def keymap_of(app: object) -> Keymap:
    """The keymap of the running application; a widget alone on a test's screen has the usual keys."""
    keymap = getattr(app, "keymap", None)
    return keymap if isinstance(keymap, Keymap) else Keymap()
