/** Logins and file transfer through OpenSSH. */
@NullMarked
package org.cloister.ctl.ssh;

import org.jspecify.annotations.NullMarked;
