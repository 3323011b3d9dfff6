//! Table `[controller]`: the network controller, and delay and loss of its messages.

use tidegate_core::units::Span;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::CONTROLLER;
use tidegate_settings::uses;

use super::keys;
use crate::plan::ControllerPlan;

/// Default delay of every message.
const DELAY: Span = Span::from_millis(1);

/// Reads `[controller]`; `None` without it, or if it has an error.
pub(super) fn read(root: &Fields<'_>) -> Option<ControllerPlan> {
    let controller = root.table("controller", &keys::CONTROLLER_KEYS)?;
    Some(ControllerPlan {
        scheme: uses::read(root.context, controller.item("scheme")?, &CONTROLLER)?,
        delay: controller.time("delay").unwrap_or(DELAY),
        loss: controller.number("loss").unwrap_or(0.0),
    })
}
