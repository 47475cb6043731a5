def test_all_pages(tasks, ines, world):
    for url in ["/", "/reviews", "/board", "/board?view=table", "/board/columns", "/nope"] + [f"/tasks/T-{tasks['told'].number}/{t}" for t in ("spec","rounds","claim","timeline","yaml")] + [f"/tasks/{t.pk}" for t in tasks.values()]:
        r = ines.get(url)
        print(url, r.status_code, len(r.content))
        assert r.status_code < 500
