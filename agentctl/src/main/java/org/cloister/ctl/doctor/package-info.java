/** agentctl doctor: prints the preflight report. */
@NullMarked
package org.cloister.ctl.doctor;

import org.jspecify.annotations.NullMarked;
