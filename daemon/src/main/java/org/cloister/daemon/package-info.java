/** Common parts of the daemons: command line, configuration file, stop signal and notification of systemd. */
@NullMarked
package org.cloister.daemon;

import org.jspecify.annotations.NullMarked;
