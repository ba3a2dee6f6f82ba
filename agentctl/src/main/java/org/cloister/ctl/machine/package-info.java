/** The machine that agentctl runs on, as far as it is looked at: files, programs, environment. Changes nothing. */
@NullMarked
package org.cloister.ctl.machine;

import org.jspecify.annotations.NullMarked;
