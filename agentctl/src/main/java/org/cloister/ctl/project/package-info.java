/** A project's documents, certificates, policy and quota. */
@NullMarked
package org.cloister.ctl.project;

import org.jspecify.annotations.NullMarked;
