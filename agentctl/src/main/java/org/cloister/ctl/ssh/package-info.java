/** {@code agentctl project connect|ssh-config|put|get}: a person in the controlling VM, by the device's own OpenSSH. */
@NullMarked
package org.cloister.ctl.ssh;

import org.jspecify.annotations.NullMarked;
