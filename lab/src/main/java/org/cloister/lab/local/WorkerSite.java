package org.cloister.lab.local;

import java.io.IOException;
import java.util.List;
import org.cloister.lab.Sandbox;
import org.cloister.vm.Shape;

/** Hosts on which workers are made as namespaces. Everything of it is on disk or runs by itself: whoever asks may die. */
public final class WorkerSite {
    private final Site site;
    private final List<Shape> shapes;

    WorkerSite(Site site, List<Shape> shapes) {
        this.site = site;
        this.shapes = List.copyOf(shapes);
    }

    /** For one process at a time. */
    public NamespaceWorkers ask() throws IOException {
        return new NamespaceWorkers(site, shapes);
    }

    public Faults faults() throws IOException {
        return new Faults(site);
    }

    /** Tickets of which something may be left. */
    public List<String> tickets() throws IOException {
        return new WorkerBook(site.folder().resolve("book"))
                .all().stream().map(Booked::ticket).toList();
    }

    /** Names of the workers that there are, ready or not. */
    public List<String> nodes() throws IOException {
        return Sandbox.find(site.lab()).stream()
                .map(Sandbox::name)
                .filter(name -> name.startsWith("vm-"))
                .sorted()
                .toList();
    }
}
