/** What a VM has on the host's disks: its scratch file, made empty and taken away erased. */
@NullMarked
package org.cloister.host.scratch;

import org.jspecify.annotations.NullMarked;
