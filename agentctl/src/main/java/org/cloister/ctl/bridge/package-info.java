/** {@code agentctl}: the one command for operators, owners, members and the daemons' own hooks. */
@NullMarked
package org.cloister.ctl.bridge;

import org.jspecify.annotations.NullMarked;
