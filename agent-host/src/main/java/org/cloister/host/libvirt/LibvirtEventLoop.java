package org.cloister.host.libvirt;

import org.libvirt.Connect;
import org.libvirt.ErrorCallback;
import org.libvirt.Library;
import org.libvirt.LibvirtException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * libvirt's event loop, one per process. It must exist before the first connection, and reports changes of domains and
 * lost connections. It sleeps while nothing happens.
 */
final class LibvirtEventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(LibvirtEventLoop.class);

    /** Kept in a field, because the library calls it for as long as the process runs. */
    private static final ErrorCallback SILENT = new ErrorCallback();

    static {
        try {
            // Without it libvirt also writes every error to standard error, besides throwing it.
            Connect.setErrorCallback(SILENT);
            Library.initEventLoop();
        } catch (LibvirtException e) {
            throw new IllegalStateException("libvirt's event loop: " + e.getMessage(), e);
        }
        Thread thread = new Thread(LibvirtEventLoop::run, "libvirt-events");
        thread.setDaemon(true);
        thread.start();
    }

    private LibvirtEventLoop() {}

    /** Starts the loop at the first call. */
    static void ensure() {
        LOG.trace("libvirt's event loop runs");
    }

    private static void run() {
        boolean runs = true;
        while (runs) {
            try {
                Library.processEvent();
            } catch (LibvirtException e) {
                // Without the loop no event arrives: calls still work, and the periodic pass finds what changed.
                LOG.error("libvirt's event loop has ended; restart agent-host: {}", e.getMessage());
                runs = false;
            }
        }
    }
}
