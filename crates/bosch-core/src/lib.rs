//! bosch-core
