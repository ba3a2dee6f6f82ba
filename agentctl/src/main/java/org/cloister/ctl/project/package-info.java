/** {@code agentctl project}: what a project's own people do. */
@NullMarked
package org.cloister.ctl.project;

import org.jspecify.annotations.NullMarked;
