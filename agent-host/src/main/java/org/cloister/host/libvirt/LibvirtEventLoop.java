package org.cloister.host.libvirt;

import org.libvirt.Connect;
import org.libvirt.ErrorCallback;
import org.libvirt.Library;
import org.libvirt.LibvirtException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * libvirt's own event loop, of which a process has one: it has to be there before the first connection, and tells of domains
 * and of connections that end. It sleeps while nothing happens.
 */
final class LibvirtEventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(LibvirtEventLoop.class);

    /** Kept here, for the library calls it as long as it lives. */
    private static final ErrorCallback SILENT = new ErrorCallback();

    static {
        try {
            // Without it every error is written to standard error as well, besides being thrown.
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

    /** Starts it, the first time. */
    static void ensure() {
        LOG.trace("libvirt's event loop runs");
    }

    private static void run() {
        boolean runs = true;
        while (runs) {
            try {
                Library.processEvent();
            } catch (LibvirtException e) {
                // Without it no end of a domain would ever be heard of: calls go on, and the timer finds what changed.
                LOG.error("libvirt's event loop has ended; restart agent-host: {}", e.getMessage());
                runs = false;
            }
        }
    }
}
