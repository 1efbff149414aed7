//! bosch-eval
