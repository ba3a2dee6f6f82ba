/** systemd on this machine: units, their drop-ins, configured mounts and encrypted credentials. */
@NullMarked
package org.cloister.ctl.systemd;

import org.jspecify.annotations.NullMarked;
