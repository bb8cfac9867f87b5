"""doorward for Python: may this tool call run?

    from doorward import Doorward

    door = Doorward()
    judgement = door.check("bash", {"command": "git push"})
    if judgement.may_run:
        ...

A call runs only after doorward has said so. If the program is missing, late, silent or killed, the answer is a block.
"""

from ._client import Doorward, Judgement, Refused, Verdict
from ._program import NotInstalled, find_program

__all__ = ["Doorward", "Judgement", "NotInstalled", "Refused", "Verdict", "find_program"]
__version__ = "0.1.0"
