"""What `counterfoil doctor` looks at: a finding per check, each with what to do next."""

from __future__ import annotations

from counterfoil_worker.checkup.examination import examine, examine_quickly
from counterfoil_worker.checkup.finding import Finding, Status, worst

__all__ = ["Finding", "Status", "examine", "examine_quickly", "worst"]
