/** {@code agentctl project}: on owners' devices, a project's documents, persons and policy. */
@NullMarked
package org.cloister.ctl.project;

import org.jspecify.annotations.NullMarked;
