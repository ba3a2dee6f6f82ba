/** Daemons that agent-vm starts itself or through systemd, their accounts, logs and secret files. */
@NullMarked
package org.cloister.vm.system.daemon;

import org.jspecify.annotations.NullMarked;
