/** agentctl vm: boot phases, volumes and job statuses inside a VM. */
@NullMarked
package org.cloister.ctl.vm;

import org.jspecify.annotations.NullMarked;
